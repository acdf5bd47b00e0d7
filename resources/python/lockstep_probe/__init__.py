"""Records what a PyTorch training script does at every step, without a change to the script.

``python -m lockstep_probe train.py ...`` or ``torchrun ... -m lockstep_probe train.py ...``; see docs/bring-your-script.md.
"""

__version__ = "0.1.0"
