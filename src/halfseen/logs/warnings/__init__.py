"""What in a log would make its conclusions wrong."""
