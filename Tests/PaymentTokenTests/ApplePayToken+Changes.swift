import PaymentToken

extension ApplePayToken {
    /// Returns a copy of the token with other values for the given fields.
    func with(
        transactionId: TransactionId? = nil, applicationDataHash: [UInt8]? = nil, data: [UInt8]? = nil,
        signature: [UInt8]? = nil
    ) -> ApplePayToken {
        ApplePayToken(
            keyMaterial: keyMaterial, transactionId: transactionId ?? self.transactionId, publicKeyHash: publicKeyHash,
            applicationDataHash: applicationDataHash ?? self.applicationDataHash, data: data ?? self.data,
            signature: signature ?? self.signature)
    }
}
