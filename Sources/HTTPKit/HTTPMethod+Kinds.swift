package import NIOHTTP1

/// Comparisons with one method. The operator `==` of NIO compares the names of the methods as text, which is slow for
/// code that runs for every request of a decryptor.
extension HTTPMethod {
    package var isGET: Bool { if case .GET = self { true } else { false } }
    package var isHEAD: Bool { if case .HEAD = self { true } else { false } }
    package var isPOST: Bool { if case .POST = self { true } else { false } }
    package var isCONNECT: Bool { if case .CONNECT = self { true } else { false } }
}
