"""What the evidence says about itself: claims, contradictions, age, and what is missing."""
