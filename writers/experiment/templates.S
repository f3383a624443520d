# SPDX-License-Identifier: Apache-2.0
# The programs of experiments, which are files of this folder, each with a zero byte at its end.
    .macro template name file
    .global gradway_\name
gradway_\name:
    .incbin "\file"
    .byte 0
    .endm
    .section .rodata
    template train_py train.py
    template decoder_py decoder.py
    template vision_transformer_py vision_transformer.py
    template residual_py residual.py
    template conv_next_py conv_next.py
    template run_sh run.sh
    template check_sh check.sh
    .section .note.GNU-stack,"",%progbits
