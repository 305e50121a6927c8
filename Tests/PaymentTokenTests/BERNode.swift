/// A BER element as a tree, so that a test can change any part and encode the whole again.
///
/// Definite lengths are encoded in their shortest form, indefinite lengths stay indefinite. Apple, the sandbox and `DER`
/// use only these forms.
struct BERNode: Equatable {
    enum Content: Equatable {
        case primitive([UInt8])
        case constructed([BERNode], isIndefinite: Bool)
    }

    struct Malformed: Error {}

    var tag: UInt8
    var content: Content

    init(_ tag: UInt8, _ content: Content) {
        self.tag = tag
        self.content = content
    }

    /// Parses exactly one element.
    init(parsing bytes: [UInt8]) throws {
        var rest = bytes[...]
        self = try Self.read(&rest)
        guard rest.isEmpty else { throw Malformed() }
    }

    var encoded: [UInt8] {
        switch content {
        case .primitive(let bytes): DER.element(tag, bytes)
        case .constructed(let children, let isIndefinite):
            isIndefinite
                ? DER.indefinite(tag, children.flatMap(\.encoded)) : DER.element(tag, children.flatMap(\.encoded))
        }
    }

    /// The children; empty for a primitive element.
    var children: [BERNode] {
        get {
            guard case .constructed(let children, _) = content else { return [] }
            return children
        }
        set {
            guard case .constructed(_, let isIndefinite) = content else { return }
            content = .constructed(newValue, isIndefinite: isIndefinite)
        }
    }

    /// The contents octets; empty for a constructed element.
    var bytes: [UInt8] {
        get {
            guard case .primitive(let bytes) = content else { return [] }
            return bytes
        }
        set { content = .primitive(newValue) }
    }

    /// The element at the end of a path of indices.
    subscript(path: [Int]) -> BERNode {
        get { path.isEmpty ? self : children[path[0]][Array(path.dropFirst())] }
        set {
            if path.isEmpty { self = newValue } else { children[path[0]][Array(path.dropFirst())] = newValue }
        }
    }

    /// Replaces every occurrence of an object identifier. Both are given as whole DER elements.
    mutating func replace(oid: [UInt8], with other: [UInt8]) {
        if tag == 0x06, DER.element(0x06, bytes) == oid { bytes = Array(other.dropFirst(2)) }
        for index in children.indices { children[index].replace(oid: oid, with: other) }
    }

    private static func read(_ rest: inout ArraySlice<UInt8>) throws -> BERNode {
        guard let tag = rest.popFirst(), let first = rest.popFirst() else { throw Malformed() }
        if first == 0x80 {
            var children: [BERNode] = []
            while !rest.starts(with: [0, 0]) { children.append(try read(&rest)) }
            rest = rest.dropFirst(2)
            return BERNode(tag, .constructed(children, isIndefinite: true))
        }
        var count = Int(first)
        if first > 0x80 {
            count = 0
            for _ in 0..<(first & 0x7F) {
                guard let digit = rest.popFirst() else { throw Malformed() }
                count = count << 8 | Int(digit)
            }
        }
        guard count <= rest.count else { throw Malformed() }
        var inside = rest.prefix(count)
        rest = rest.dropFirst(count)
        guard tag & 0x20 != 0 else { return BERNode(tag, .primitive(Array(inside))) }
        var children: [BERNode] = []
        while !inside.isEmpty { children.append(try read(&inside)) }
        return BERNode(tag, .constructed(children, isIndefinite: false))
    }
}
