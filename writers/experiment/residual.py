MODEL = {
    "layers": [3, 4, 6, 3],
    "groups": 1,
    "width_per_group": 64,
    "num_classes": 1000,
}


def parameter_count():
    m = MODEL
    count, inputs = 3 * 64 * 49 + 2 * 64, 64
    for stage, blocks in enumerate(m["layers"]):
        planes = 64 * 2**stage
        width = planes * m["width_per_group"] // 64 * m["groups"]
        for block in range(blocks):
            count += inputs * width + width * (width // m["groups"]) * 9 + width * 4 * planes
            count += 2 * (2 * width + 4 * planes)
            if block == 0:
                count += inputs * 4 * planes + 2 * 4 * planes
            inputs = 4 * planes
    return count + (inputs + 1) * m["num_classes"]


def build_model():
    """torchvision's ResNet with bottleneck blocks."""
    from torchvision.models.resnet import Bottleneck, ResNet

    model = ResNet(Bottleneck, **MODEL)
    return model, [block for stage in (model.layer1, model.layer2, model.layer3, model.layer4) for block in stage]
