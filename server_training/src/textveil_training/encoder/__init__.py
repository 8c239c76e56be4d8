"""From a file of labeled texts to a bundle whose devices release an index."""
