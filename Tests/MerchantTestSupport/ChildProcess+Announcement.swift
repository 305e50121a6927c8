import Foundation

extension ChildProcess {
    /// A program ended, or 20 seconds passed, before the program printed the expected text.
    package struct NotAnnounced: Error {
        package let output: String
    }

    /// Waits until the file with a program's output contains what the program prints once it is ready, such as its
    /// port.
    /// - Parameter find: called with the whole output so far; nil if the expected text is not there yet.
    package func announcement<Value>(in file: String, _ find: (String) -> Value?) throws -> Value {
        let end = ContinuousClock.now + .seconds(20)
        var output = ""
        repeat {
            // The program may print and end between two lines here, so its state is read first.
            let isRunning = isRunning
            output = (try? String(contentsOfFile: file, encoding: .utf8)) ?? ""
            if let value = find(output) { return value }
            guard isRunning else { break }
            Thread.sleep(forTimeInterval: 0.01)
        } while ContinuousClock.now < end
        throw NotAnnounced(output: output)
    }

    /// The first whole line of the output in a file, without spaces around it.
    package func firstLine(in file: String) throws -> String {
        try announcement(in: file) { output in
            output.contains("\n")
                ? output.prefix { $0 != "\n" }.trimmingCharacters(in: .whitespacesAndNewlines) : nil
        }
    }
}
