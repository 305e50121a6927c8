import MerchantKeyClient
import StrictJSON

extension Printer {
    /// Prints a list: with `--output json` as one JSON document with the items of all pages, otherwise as the block
    /// that `table` returns.
    func show<Item>(_ listing: Listing<Item>, orTable table: ([Item]) -> Block) throws {
        switch format {
        case .table:
            show([table(listing.items)])
        case .json:
            var items: [JSONValue] = []
            for page in listing.pages {
                guard case .object(let object) = try Self.parse(page), case .array(let pageItems) = object["items"]
                else {
                    throw ClientError.protocolViolation(
                        "it has no 'items'; use the merchantkeyctl of the daemon's version, which "
                            + "'merchantkeyctl status' shows")
                }
                items += pageItems
            }
            json(.object(JSONObject(members: [.init(name: "items", value: .array(items))])))
        }
    }
}
