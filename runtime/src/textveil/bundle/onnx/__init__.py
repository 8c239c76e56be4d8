"""Security checks of the bytes of an ONNX model, before onnxruntime loads the model."""
