"""Parts shared by all pages."""
