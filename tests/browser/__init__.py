"""Pages and notebook outputs in a real browser."""
