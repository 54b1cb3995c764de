"""What only some papers see of a page."""
