"""What sanitizers leave of names and what else they change. Without this file, a package of that name would win."""
