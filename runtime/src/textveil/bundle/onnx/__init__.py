"""Checks of ONNX models before they run."""
