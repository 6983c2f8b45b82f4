"""An example of a prompt builder of one's own, with the golden file that pins what it gives."""
