import DaemonKit
import Testing

/// The limits of free space that `status` and `diagnose` share.
@Suite struct DiskSpaceTests {
    private static let gibibyte = 1 << 30

    private static let cases: [(total: Int, free: Int, level: DiskSpace.Level)] = [
        (100 * gibibyte, gibibyte, .sufficient), (100 * gibibyte, gibibyte - 1, .low), (100 * gibibyte, 1 << 20, .low),
        (100 * gibibyte, (1 << 20) - 1, .nearlyFull),
        // On a small file system, the limits are 1/16 and 1/32 of its size.
        (16 << 20, 1 << 20, .sufficient), (16 << 20, (1 << 20) - 1, .low), (16 << 20, (1 << 19) - 1, .nearlyFull),
        (gibibyte, 64 << 20, .sufficient), (gibibyte, (64 << 20) - 1, .low),
    ]

    @Test(arguments: cases)
    func `the level depends on the free bytes and, on a small file system, on its size`(
        total: Int, free: Int, level: DiskSpace.Level
    ) {
        let space = DiskSpace(free: free, total: total)
        #expect(space.level == level)
        #expect((space.shortage(in: "/state") == nil) == (level == .sufficient))
    }
}
