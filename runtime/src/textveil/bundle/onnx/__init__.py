"""What is refused of an ONNX model before anything runs it."""
