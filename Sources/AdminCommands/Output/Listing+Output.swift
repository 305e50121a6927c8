import MerchantKeyClient
import StrictJSON

extension Printer {
    /// Prints a list: with `--output json` as one JSON document with the items of all pages, otherwise as the block
    /// that `table` returns.
    ///
    /// - Parameter isShown: whether an item is printed.
    func show<Item>(
        _ listing: Listing<Item>, where isShown: (Item) -> Bool = { _ in true }, orTable table: ([Item]) -> Block
    ) throws {
        switch format {
        case .table: show([table(listing.items.filter(isShown))])
        case .json: json(list: try listing.jsonItems().filter { isShown($0.item) }.map(\.json))
        }
    }

    /// Prints the items of a list as one JSON document.
    func json(list items: [JSONValue]) {
        json(.object(JSONObject(members: [.init(name: "items", value: .array(items))])))
    }
}

extension Listing {
    /// Each item with its JSON as the daemon sent it.
    func jsonItems() throws -> [(item: Item, json: JSONValue)] {
        var values: [JSONValue] = []
        for page in pages {
            guard case .object(let object) = try Printer.parse(page), case .array(let pageItems) = object["items"]
            else {
                throw ClientError.protocolViolation(
                    "it has no 'items'; use a merchantkeyctl of the same version as the daemon; "
                        + "'merchantkeyctl status' shows the daemon's version")
            }
            values += pageItems
        }
        return zip(items, values).map { (item: $0, json: $1) }
    }
}
