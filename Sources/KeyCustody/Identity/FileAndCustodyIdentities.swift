package import MerchantCore
package import Vocabulary

/// The source of client certificates if files hold the platform's identity: the files for the platform, the store for
/// merchants with an identity key of their own.
package struct FileAndCustodyIdentities: IdentitySource {
    private let files: IdentityFiles
    private let custody: CustodyIdentities

    package init(files: IdentityFiles, custody: CustodyIdentities) {
        self.files = files
        self.custody = custody
    }

    /// Files are never cached here, because they may have changed.
    package func cachedIdentity(of owner: IdentityOwner, at time: Timestamp) -> ClientIdentity? {
        switch owner {
        case .platform: nil
        case .merchant: custody.cachedIdentity(of: owner, at: time)
        }
    }

    package func identity(of owner: IdentityOwner, at time: Timestamp) throws(IdentityError) -> ClientIdentity {
        switch owner {
        case .platform: try files.identity(of: owner, at: time)
        case .merchant: try custody.identity(of: owner, at: time)
        }
    }
}
