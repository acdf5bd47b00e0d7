"""Hugging Face's Trainer with a small GPT-2, accumulation and its linear schedule."""
import os
import sys
import tempfile

import torch
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

world = int(os.environ.get("WORLD_SIZE", 1))
torch.manual_seed(0)
model = GPT2LMHeadModel(GPT2Config(vocab_size=50, n_positions=16, n_embd=16, n_layer=2, n_head=2, resid_pdrop=0.0, embd_pdrop=0.0,
                                   attn_pdrop=0.0, bos_token_id=0, eos_token_id=0))
texts = torch.randint(0, 50, (96, 12), generator=torch.Generator().manual_seed(1))
several = {"ddp_backend": "gloo", "ddp_find_unused_parameters": True} if world > 1 else {}
with tempfile.TemporaryDirectory() as folder:
    arguments = TrainingArguments(output_dir=folder, use_cpu=True, per_device_train_batch_size=8 // world, max_steps=8,
                                  gradient_accumulation_steps=2, learning_rate=1e-2, warmup_steps=2, logging_steps=4,
                                  save_strategy="no", report_to=[], seed=1, data_seed=1, disable_tqdm=True, **several)
    Trainer(model=model, args=arguments, train_dataset=[{"input_ids": text, "labels": text} for text in texts]).train()
sys.stdout.flush()
