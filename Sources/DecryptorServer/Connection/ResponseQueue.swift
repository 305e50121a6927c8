import NIOCore

/// The outstanding responses of a connection, in the order of the requests. They may become known in another order.
package struct ResponseQueue {
    /// A request's place in the order.
    package struct Place: Hashable, Sendable {
        fileprivate let number: Int
    }

    private struct Entry {
        let form: ResponseForm
        /// nil until it is known.
        var response: EncodedResponse?
    }

    private var entries = CircularBuffer<Entry>()
    /// The number of the first entry.
    private var first = 0

    package init() {}

    var count: Int { entries.count }

    package var isEmpty: Bool { entries.isEmpty }

    /// The place of the next entry.
    package var nextPlace: Place { Place(number: first + entries.count) }

    package mutating func append(_ form: ResponseForm, _ response: EncodedResponse? = nil) {
        entries.append(Entry(form: form, response: response))
    }

    package mutating func fill(_ place: Place, with response: EncodedResponse) {
        let offset = place.number - first
        precondition(entries.indices.count > offset && offset >= 0, "a place is filled once, before it is taken")
        entries[entries.index(entries.startIndex, offsetBy: offset)].response = response
    }

    /// - Returns: nil while the first response is not known.
    package mutating func takeFirst() -> (form: ResponseForm, response: EncodedResponse)? {
        guard let entry = entries.first, let response = entry.response else { return nil }
        entries.removeFirst()
        first += 1
        return (entry.form, response)
    }

    /// Drops everything, overwriting secrets.
    mutating func removeAll() {
        for entry in entries { entry.response?.wipe() }
        first += entries.count
        entries.removeAll()
    }
}

/// What a request determines about its response.
package struct ResponseForm: Sendable {
    let isHead: Bool
    /// The last response of its connection.
    var isLast: Bool
    /// An interim `100 Continue`; the response itself follows.
    let isInterim: Bool
    /// The index of the route in ``DecryptorRoute/table``; nil where none matched.
    var route: Int?
    /// When the request began to be handled; nil where it is refused before that.
    var start: NIODeadline?

    package init(isHead: Bool = false, isLast: Bool = false, isInterim: Bool = false) {
        self.isHead = isHead
        self.isLast = isLast
        self.isInterim = isInterim
    }
}
