import NIOCore

/// The answers a connection owes, in the order of the requests, whichever is known first.
package struct ResponseQueue {
    /// A request's place in the order.
    package struct Place: Hashable, Sendable {
        fileprivate let number: Int
    }

    /// What a request wants of its answer's form, and the answer once it is known.
    private struct Entry {
        let form: AnswerForm
        var response: Response?
    }

    private var entries = CircularBuffer<Entry>()
    /// The number of the first entry.
    private var first = 0

    var count: Int { entries.count }
    package init() {}

    package var isEmpty: Bool { entries.isEmpty }

    /// Where the next entry will be.
    package var nextPlace: Place { Place(number: first + entries.count) }

    package mutating func append(_ form: AnswerForm, _ response: Response? = nil) {
        entries.append(Entry(form: form, response: response))
    }

    package mutating func fill(_ place: Place, with response: Response) {
        let offset = place.number - first
        precondition(entries.indices.count > offset && offset >= 0, "a place is filled once, before it is taken")
        entries[entries.index(entries.startIndex, offsetBy: offset)].response = response
    }

    /// - Returns: nil while the first answer owed is not known.
    package mutating func takeFirst() -> (form: AnswerForm, response: Response)? {
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

/// What a request wants of its answer's form.
package struct AnswerForm: Sendable {
    let isHead: Bool
    /// The last answer of its connection.
    let isLast: Bool
    /// An interim `100 Continue`, which is no answer yet.
    let isInterim: Bool

    package init(isHead: Bool = false, isLast: Bool = false, isInterim: Bool = false) {
        self.isHead = isHead
        self.isLast = isLast
        self.isInterim = isInterim
    }

    /// The same, as the last answer of its connection.
    var last: AnswerForm { AnswerForm(isHead: isHead, isLast: true, isInterim: isInterim) }
}
