import Crypto
import DecryptorServer
import FoundationEssentials
import MerchantCore
import NIOCore
import NIOHTTP1
import Testing
import Vocabulary

@Suite("The server's parts")
struct PartsTests {
    private func response(_ text: String, isSecret: Bool = false) -> EncodedResponse {
        EncodedResponse(.ok, bodyCapacity: text.utf8.count, holdsSecret: isSecret) { $0.writeString(text) }
    }

    private static let always = Timestamp(millisecondsSince1970: .min)..<Timestamp(millisecondsSince1970: .max)

    private func text(_ response: EncodedResponse) -> String {
        String(buffer: response.wireBytes(isHead: false, isLast: false))
    }

    @Test("Responses leave the queue in the order of the requests, whichever is known first")
    func queue() {
        var queue = ResponseQueue()
        let first = queue.nextPosition
        queue.append(ResponseForm())
        queue.append(ResponseForm(), response("b"))
        let third = queue.nextPosition
        queue.append(ResponseForm())
        queue.fill(third, with: response("c"))
        #expect(queue.takeFirst() == nil)
        queue.fill(first, with: response("a"))
        var taken = ""
        while let next = queue.takeFirst() { taken += text(next.response).suffix(1) }
        #expect(taken == "abc")
        #expect(queue.isEmpty)
    }

    @Test("A response is sent whole, without its body, or as the last of its connection")
    func forms() {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n"
        #expect(text(response("{}")) == head + "\r\n{}")
        #expect(text(response("{}").compacted) == head + "\r\n{}")
        #expect(String(buffer: response("{}").wireBytes(isHead: true, isLast: false)) == head + "\r\n")
        #expect(
            String(buffer: response("{}").wireBytes(isHead: false, isLast: true)) == head
                + "Connection: close\r\n\r\n{}")
        #expect(
            String(buffer: response("{}").wireBytes(isHead: true, isLast: true)) == head + "Connection: close\r\n\r\n")
    }

    @Test func `a shared body is sent from the same memory in each response, after a head of its own`() {
        let body = ByteBuffer(repeating: UInt8(ascii: "x"), count: 200_000)
        let response = EncodedResponse(sharing: body, mediaType: "application/yaml")
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/yaml\r\nContent-Length: 200000\r\n"
        #expect(text(response) == head + "\r\n")
        #expect(
            String(buffer: response.wireBytes(isHead: true, isLast: true)) == head + "Connection: close\r\n\r\n")
        #expect(response.sharedBody(isHead: true) == nil)
        #expect(self.response("{}").sharedBody(isHead: false) == nil)
        let addresses = [body, response.sharedBody(isHead: false), response.compacted.sharedBody(isHead: false)].map {
            $0?.withUnsafeReadableBytes { $0.baseAddress }
        }
        #expect(addresses[0] != nil && addresses[1] == addresses[0] && addresses[2] == addresses[0])
    }

    @Test("A copy of a secret response overwrites the memory of the original, and only secret responses are wiped")
    func wiping() {
        let secret = response("secret", isSecret: true)
        let shared = secret.wireBytes(isHead: false, isLast: false)
        let last = secret.wireBytes(isHead: false, isLast: true)
        #expect(shared.readableBytesView.allSatisfy { $0 == 0 })
        #expect(String(buffer: last).hasSuffix("secret"))
        last.wipeStorage()
        #expect(last.readableBytesView.allSatisfy { $0 == 0 })
        let plain = response("plain")
        plain.wipe()
        #expect(text(plain).hasSuffix("plain"))
    }

    @Test("Base64 is written as Foundation writes it", arguments: 0..<70)
    func base64(count: Int) {
        let bytes = (0..<count).map { _ in UInt8.random(in: 0...255) }
        var buffer = ByteBuffer()
        bytes.withUnsafeBytes { buffer.writeBase64($0) }
        #expect(String(buffer: buffer) == Data(bytes).base64EncodedString())
        #expect(buffer.writerIndex == ByteBuffer.base64Length(of: count))
    }

    @Test("The fast parser of paths accepts the same canonical spelling as the general one, and nothing else")
    func pathSpelling() {
        for _ in 0..<2000 {
            let hash = PublicKeyHash(of: (0..<8).map { _ in UInt8.random(in: 0...255) })
            #expect(PublicKeyHash(base64URL: hash.base64URL.utf8Span.span) == hash)
            var changed = Array(hash.base64URL.utf8)
            changed[Int.random(in: 0..<43)] = UInt8.random(in: 33...126)
            let text = String(decoding: changed, as: UTF8.self)
            #expect(PublicKeyHash(base64URL: text.utf8Span.span) == PublicKeyHash(anySpelling: text))
        }
        for text in ["", "A", String(repeating: "A", count: 42), String(repeating: "A", count: 44)] {
            #expect(PublicKeyHash(base64URL: text.utf8Span.span) == nil)
        }
    }

    @Test("The cache stays close to its limit and keeps an entry that is in use")
    func bound() {
        let clock = HandClock()
        let cache = KeyResponseCache(maximumBytes: 1024 * 1024)
        let hashes = (0..<5000).map { PublicKeyHash(of: Array("\($0)".utf8)) }
        let favourite = PublicKeyHash(of: Array("favourite".utf8))
        let entry = KeyResponseCache.Entry(
            merchantIdentifier: DecryptorTestServer.merchant, algorithm: .ecV1,
            response: response(String(repeating: "x", count: 1800)).compacted, period: Self.always)
        cache.fill(entry, for: favourite, cache.ticket(for: favourite))
        for hash in hashes {
            cache.fill(entry, for: hash, cache.ticket(for: hash))
            #expect(cache.entry(for: favourite, at: clock.now) != nil)
        }
        #expect(cache.footprint <= 1024 * 1024 + 16 * 4096)
        #expect(cache.entry(for: hashes[0], at: clock.now) == nil)
        #expect(cache.entry(for: hashes[4999], at: clock.now) != nil)
    }

    @Test("A change of a key drops its entry, and an entry that was read before the change is not cached")
    func invalidation() {
        let clock = HandClock()
        let cache = KeyResponseCache()
        let hash = PublicKeyHash(of: [1])
        let entry = KeyResponseCache.Entry(
            merchantIdentifier: DecryptorTestServer.merchant, algorithm: .ecV1, response: response("{}"),
            period: Self.always)
        let early = cache.ticket(for: hash)
        cache.fill(entry, for: hash, early)
        #expect(cache.entry(for: hash, at: clock.now) != nil)
        cache.keysChanged([hash])
        #expect(cache.entry(for: hash, at: clock.now) == nil)
        cache.fill(entry, for: hash, early)
        #expect(cache.entry(for: hash, at: clock.now) == nil)
        cache.fill(entry, for: hash, cache.ticket(for: hash))
        #expect(cache.entry(for: hash, at: clock.now) != nil)
    }

    @Test func `a response is used only in its period, and the rest of its entry at any time`() {
        let clock = HandClock()
        let cache = KeyResponseCache()
        let hash = PublicKeyHash(of: [1])
        let entry = KeyResponseCache.Entry(
            merchantIdentifier: DecryptorTestServer.merchant, algorithm: .ecV1, response: response("{}"),
            period: clock.now..<clock.now.adding(.seconds(86_400)))
        cache.fill(entry, for: hash, cache.ticket(for: hash))
        func isUsed() -> Bool { cache.entry(for: hash, at: clock.now) != nil }
        #expect(isUsed())
        clock.advance(by: .milliseconds(-1))
        #expect(!isUsed() && cache.entry(for: hash) != nil)
        clock.advance(by: .seconds(86_400))
        #expect(isUsed())
        clock.advance(by: .milliseconds(1))
        #expect(!isUsed() && cache.entry(for: hash) != nil)
    }

    @Test func `without a lease no entry is used, and a change of all keys drops every entry`() {
        let clock = HandClock()
        let lease = Lease()
        let cache = KeyResponseCache(lease: lease)
        let hashes = (0..<50).map { PublicKeyHash(of: [$0]) }
        let entry = KeyResponseCache.Entry(
            merchantIdentifier: DecryptorTestServer.merchant, algorithm: .ecV1, response: response("{}"),
            period: Self.always)
        let early = hashes.map { cache.ticket(for: $0) }
        for hash in hashes { cache.fill(entry, for: hash, cache.ticket(for: hash)) }
        #expect(hashes.allSatisfy { cache.entry(for: $0, at: clock.now) == nil })
        lease.setEnd(.now + .seconds(3600))
        #expect(hashes.allSatisfy { cache.entry(for: $0, at: clock.now) != nil })
        lease.setEnd(.now)
        #expect(cache.entry(for: hashes[0], at: clock.now) == nil && cache.entry(for: hashes[0]) == nil)
        lease.setEnd(.now + .seconds(3600))
        cache.allKeysChanged()
        #expect(hashes.allSatisfy { cache.entry(for: $0, at: clock.now) == nil } && cache.footprint == 0)
        for (hash, ticket) in zip(hashes, early) { cache.fill(entry, for: hash, ticket) }
        #expect(hashes.allSatisfy { cache.entry(for: $0, at: clock.now) == nil })
    }
}
