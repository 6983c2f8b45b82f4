"""A capsule for people: what it holds, in context, judged at a time; as text and as a page."""
