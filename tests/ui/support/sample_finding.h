// A finding as the diagnosis enters it, with evidence of every kind.
#pragma once

#include "core/store/project_store.h"

#include <string>

namespace lockstep::test {

inline FindingRow finding(const std::string& a, const std::string& b)
{
    FindingRow row;
    row.runA = a;
    row.runB = b;
    row.cause = "B6";
    row.confidence = "proven";
    row.sentence = "Accumulated gradients are not divided by K = 2.";
    row.fix = "(loss / accum_steps).backward()";
    row.step = 17;
    row.evidenceJson = R"([{"label":"reduced gradient","text":"2.000000 times","excludes":false},
                           {"label":"loss","text":"equal","step":18,"rank":null,"excludes":false},
                           {"label":"own gradient","text":"2 times","quantity":"grad_norm_local","step":19,"rank":1},
                           {"label":"B1 summed loss","text":"ratio 8 expected","excludes":true}])";
    return row;
}

} // namespace lockstep::test
