// Errors as values: what happened, why, and what to do about it. No exception crosses a folder boundary.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace lockstep {

enum class ErrorKind {
    Usage,       // the caller asked for something that does not exist (exit code 2)
    Environment, // a program, library, device, port or right is missing (exit code 3)
    Input,       // a file or value cannot be used, or there is nothing to compare (exit code 3)
    Corrupt,     // a file is damaged; `why` names the byte where that is known (exit code 3)
    NewerSchema, // written by a newer Lockstep; never touched (exit code 3)
    Io,          // read, write, disk full (exit code 3)
    Busy,        // somebody else holds it (exit code 3)
    NotFound,    // no such run, file, series (exit code 3)
    RunFailed,   // a training run ended with an error (exit code 4)
    Cancelled,   // stopped on request
};

// Three short clauses, each without a full stop. `fix` may be empty only where nothing can be done.
struct Error {
    ErrorKind kind = ErrorKind::Input;
    std::string what;
    std::string why;
    std::string fix;

    // "What. Why. Fix." as shown to people.
    std::string sentence() const;
    // Exit code of a program that ends because of this error (design: 2, 3 or 4).
    int exitCode() const;
};

// A value or an error. Asking for the side that is not there is our own mistake, hence the asserts.
template<typename T>
class [[nodiscard]] Result
{
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() &
    {
        assert(ok());
        return std::get<0>(state_);
    }
    const T& value() const&
    {
        assert(ok());
        return std::get<0>(state_);
    }
    T&& value() &&
    {
        assert(ok());
        return std::get<0>(std::move(state_));
    }
    T* operator->() { return &value(); }
    const T* operator->() const { return &value(); }
    T& operator*() & { return value(); }
    const T& operator*() const& { return value(); }
    T&& operator*() && { return std::move(*this).value(); }

    const Error& error() const
    {
        assert(!ok());
        return std::get<1>(state_);
    }

private:
    std::variant<T, Error> state_;
};

// Success or an error, for operations that give nothing back.
class [[nodiscard]] Status
{
public:
    Status() = default;
    Status(Error error) : error_(std::move(error)) {}

    bool ok() const { return !error_; }
    explicit operator bool() const { return ok(); }
    const Error& error() const
    {
        assert(error_);
        return *error_;
    }

private:
    std::optional<Error> error_;
};

} // namespace lockstep
