/// Random bytes from the kernel.
enum Randomness {
    /// Fills the memory with random bytes. `SystemRandomNumberGenerator` calls getrandom(2), and stops the process if
    /// getrandom fails.
    static func fill(_ memory: UnsafeMutableRawBufferPointer) {
        var generator = SystemRandomNumberGenerator()
        for index in memory.indices { memory[index] = generator.next() }
    }
}
