MODEL = {
    "blocks": [3, 3, 27, 3],
    "channels": [128, 256, 512, 1024],
    "num_classes": 1000,
}


def parameter_count():
    m = MODEL
    channels = m["channels"]
    count = 3 * 16 * channels[0] + channels[0] + 2 * channels[0]
    for stage, width in enumerate(channels):
        block = 49 * width + width + 2 * width + 8 * width * width + 5 * width + width
        count += m["blocks"][stage] * block
        if stage < 3:
            count += 2 * width + 4 * width * channels[stage + 1] + channels[stage + 1]
    return count + 2 * channels[3] + (channels[3] + 1) * m["num_classes"]


def build_model():
    """torchvision's ConvNeXt without stochastic depth."""
    from torchvision.models.convnext import CNBlockConfig, ConvNeXt

    widths = [*MODEL["channels"], None]
    stages = [CNBlockConfig(widths[i], widths[i + 1], MODEL["blocks"][i]) for i in range(4)]
    model = ConvNeXt(stages, stochastic_depth_prob=0.0, num_classes=MODEL["num_classes"])
    blocks = []  # the stem and each change of resolution count as blocks, too
    for i, part in enumerate(model.features):
        blocks += list(part) if i % 2 == 1 else [part]
    return model, blocks
