"""What runs measured, as one page and as tables: utility against privacy, for every mechanism."""
