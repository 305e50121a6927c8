import LocalSocket
import Testing

@Suite struct UnixAddressTests {
    @Test func `an address of systemd is an absolute path or an abstract name`() {
        #expect(UnixAddress(systemd: "/run/systemd/notify")?.path == "/run/systemd/notify")
        #expect(UnixAddress(systemd: "@abstract") != nil)
        #expect(UnixAddress(systemd: "@abstract")?.path == nil)
        for text in ["", "@", "/", "notify", "vsock:2:1", "/\(String(repeating: "n", count: 107))"] {
            #expect(UnixAddress(systemd: text) == nil, "\(text)")
        }
        #expect(UnixAddress(systemd: "/\(String(repeating: "n", count: 106))") != nil)
    }

    @Test func `a path has 1 to 107 bytes and no zero byte`() {
        #expect(UnixAddress(path: "s")?.path == "s")
        #expect(UnixAddress(path: "") == nil)
        #expect(UnixAddress(path: "a\0b") == nil)
        #expect(UnixAddress(path: String(repeating: "s", count: 108)) == nil)
    }

    @Test func `a message to a socket that does not exist reports the error number`() {
        for text in ["/tmp/no-such-socket", "@merchantkeyd-no-such-socket"] {
            let address = UnixAddress(systemd: text)
            #expect(address.map { UnixDatagram.send("x", to: $0, waitingAtMost: 0) } != 0, "\(text)")
        }
    }
}
