"""Numbers of the quantities on the wire. They mirror core/base/quantity.h, which explains each; a test compares the two."""

EPOCH = 1
MICRO_STEPS = 2
SAMPLES_SEEN = 3
TOKENS_SEEN = 4
TIME_DATA = 10
TIME_FORWARD = 11
TIME_BACKWARD = 12
TIME_WAIT = 13
TIME_OPTIMIZER = 14
TIME_STEP = 15
LOSS = 20
LOSS_MICRO = 21
SAMPLES = 22
TOKENS = 23
LOSS_LOGGED = 24
LEARNING_RATE = 30
GRAD_NORM_LOCAL = 40
GRAD_NORM = 41
GRAD_NORM_CLIPPED = 42
CLIP_NORM_TORCH = 43
GRAD_PROJ_LOCAL = 44
GRAD_PROJ = 45
UPDATE_NORM = 50
PARAM_FINGERPRINT = 51
BUFFER_FINGERPRINT = 52
OPTIMIZER_FINGERPRINT = 53
OPTIMIZER_STEP = 54
COLLECTIVE_COUNT = 60
COLLECTIVE_BYTES = 61
COLLECTIVE_DTYPE = 62
SCALER_SCALE = 70
FOUND_INF = 71
STEP_SKIPPED = 72
RNG_CPU = 80
RNG_CUDA = 81
SAMPLE_IDS = 82
SAMPLE_CONTENT = 83

# Added to the index of a value that covers only this rank's part of sharded parameters. The host joins the parts of all
# ranks to the value of the whole (core/host/shard_join.h).
SHARE = 0x8000
