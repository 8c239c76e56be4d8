"""Fine-tuning on raw or sanitized text: classes of texts and of pairs, and scores of pairs."""
