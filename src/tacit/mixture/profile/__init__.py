"""What sets clusters apart: lifts, traits, and the page that shows them."""
