"""Fine-tuning on raw or sanitised text: classes of texts and of pairs, and scores of pairs."""
