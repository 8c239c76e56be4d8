"""One script for each training method."""
