import ArgumentParser
package import Vocabulary

/// A moment on the command line.
package enum TimeArgument {
    package static func parse(_ text: String) throws -> Timestamp {
        guard let moment = Timestamp(rfc3339: text) else {
            throw ValidationError("'\(text.prefix(40))' is no time, expected RFC 3339 such as 2026-11-21T04:53:15Z")
        }
        return moment
    }
}
