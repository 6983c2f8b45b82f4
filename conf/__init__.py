"""Hydra configuration groups, shipped as a package so that entry points find them."""
