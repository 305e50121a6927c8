import HTTPKit
import NIOCore

/// The responses that a connection has not written yet, in the order of its requests (RFC 9112 section 9.3.2). Requests
/// that are handled on other threads may be finished in another order.
package struct ResponseQueue {
    /// The position of a request in the order of the connection's requests.
    package struct Position: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Entry {
        let form: ResponseForm
        /// The encoded response; nil until the request was handled.
        var response: EncodedResponse?
    }

    private var entries = CircularBuffer<Entry>()
    /// The position number of the first entry.
    private var firstNumber = 0

    package init() {}

    var count: Int { entries.count }

    package var isEmpty: Bool { entries.isEmpty }

    /// The position that the next appended entry will have.
    package var nextPosition: Position { Position(number: firstNumber + entries.count) }

    /// - Parameter response: nil if the request is still being handled. ``fill(_:with:)`` then adds the response later.
    package mutating func append(_ form: ResponseForm, _ response: EncodedResponse? = nil) {
        entries.append(Entry(form: form, response: response))
    }

    /// Adds the response of an entry that was appended without a response.
    package mutating func fill(_ position: Position, with response: EncodedResponse) {
        let offset = position.number - firstNumber
        precondition(entries.indices.count > offset && offset >= 0, "the entry at the position is still in the queue")
        entries[entries.index(entries.startIndex, offsetBy: offset)].response = response
    }

    /// Removes the first entry, if it has its response.
    ///
    /// - Returns: nil if the queue is empty or the first request was not handled yet.
    package mutating func takeFirst() -> (form: ResponseForm, response: EncodedResponse)? {
        guard let entry = entries.first, let response = entry.response else { return nil }
        entries.removeFirst()
        firstNumber += 1
        return (entry.form, response)
    }

    /// Removes all entries, and overwrites the secrets in their responses.
    mutating func removeAll() {
        for entry in entries { entry.response?.wipe() }
        firstNumber += entries.count
        entries.removeAll()
    }
}

/// The properties of a response that depend on the request, not on its handler.
package struct ResponseForm: Sendable {
    /// Whether the request's method is `HEAD`, so the response has no body.
    let isHead: Bool
    /// Whether the connection must close after this response. It can also close after another response, for example
    /// during a shutdown.
    var isLast: Bool
    /// Whether this is the interim response `100 Continue`, which the final response follows.
    let isInterim: Bool
    /// The index of the route in ``DecryptorRoute/table``; nil if no route matched.
    var route: Int?
    /// When the server began to handle the request; nil if the server refused the request without handling it.
    var start: NIODeadline?
    /// The request's identifiers in the log, the audit and the response; nil if the request needed none.
    var identifiers: RequestIdentifiers?

    package init(isHead: Bool = false, isLast: Bool = false, isInterim: Bool = false) {
        self.isHead = isHead
        self.isLast = isLast
        self.isInterim = isInterim
    }
}
