package import Foundation

extension Process {
    /// Waits until the program ended, and returns within about a millisecond of that.
    ///
    /// `waitUntilExit` of swift-corelibs-foundation notices it up to 50 ms later, which adds up to minutes over
    /// thousands of programs.
    package func waitForExit() { while isRunning { usleep(500) } }
}
