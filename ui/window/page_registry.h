// The pages of the window, in one table. To add a page: derive a class from Page (ui/pages/page.h) and add one line to
// page_registry.cpp. The rail, Alt+digit, Ctrl+K, the session file and --screenshots follow the table.
#pragma once

#include "ui/pages/page.h"

#include <functional>
#include <span>

namespace lockstep {

struct PageEntry {
    const char* id;    // in the session file and in openRequested()
    const char* title; // English; pageTitle() translates
    const char* icon;  // file name in resources/icons; nullptr for phases, whose shape is their state
    int altKey;        // Alt+digit; 0: none. Phases: Ctrl+digit
    bool phase;        // stands in the upper list of the rail
    bool withoutProject;
    std::function<Page*(const PageContext&)> make;
};

std::span<const PageEntry> pageEntries();
const PageEntry* pageEntry(const QString& id);
QString pageTitle(const PageEntry& entry);

} // namespace lockstep
