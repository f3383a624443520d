MODEL = {
    "image_size": 224,
    "patch_size": 32,
    "num_layers": 24,
    "num_heads": 16,
    "hidden_dim": 1024,
    "mlp_dim": 4096,
    "num_classes": 1000,
}


def parameter_count():
    m = MODEL
    hidden, mlp = m["hidden_dim"], m["mlp_dim"]
    patches = (m["image_size"] // m["patch_size"]) ** 2
    layer = 4 * hidden * hidden + 4 * hidden + 2 * hidden * mlp + mlp + hidden + 4 * hidden
    count = 3 * m["patch_size"] ** 2 * hidden + hidden + hidden + (patches + 1) * hidden
    return count + m["num_layers"] * layer + 2 * hidden + (hidden + 1) * m["num_classes"]


def build_model():
    """torchvision's VisionTransformer."""
    from torchvision.models.vision_transformer import VisionTransformer

    model = VisionTransformer(**MODEL)
    return model, list(model.encoder.layers)
