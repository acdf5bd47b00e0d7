// Menus and shortcuts of the main window.
#pragma once

class QMenu;

namespace lockstep {

class MainWindow;

class MainMenu
{
public:
    // Owned by the window. Returns the menu that the project button of the rail opens.
    static QMenu* install(MainWindow& window);
};

} // namespace lockstep
