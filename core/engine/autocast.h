// torch.autocast for as long as it lives: in this thread, for the device and the precision of a run. Forward and loss stand
// inside, backward outside.
#pragma once

#include <ATen/autocast_mode.h>

#include <string>

namespace lockstep {

class Autocast
{
public:
    // `precision`: off, bf16 or fp16; off does nothing.
    Autocast(const std::string& precision, at::DeviceType device) : on_(precision != "off"), device_(device)
    {
        if (!on_)
            return;
        enabled_ = at::autocast::is_autocast_enabled(device_);
        dtype_ = at::autocast::get_autocast_dtype(device_);
        at::autocast::set_autocast_enabled(device_, true);
        at::autocast::set_autocast_dtype(device_, precision == "bf16" ? at::kBFloat16 : at::kHalf);
        at::autocast::increment_nesting();
    }
    ~Autocast()
    {
        if (!on_)
            return;
        if (at::autocast::decrement_nesting() == 0)
            at::autocast::clear_cache();
        at::autocast::set_autocast_enabled(device_, enabled_);
        at::autocast::set_autocast_dtype(device_, dtype_);
    }
    Autocast(const Autocast&) = delete;
    Autocast& operator=(const Autocast&) = delete;

private:
    bool on_;
    at::DeviceType device_;
    bool enabled_ = false;
    at::ScalarType dtype_ = at::kFloat;
};

} // namespace lockstep
