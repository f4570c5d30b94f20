use sarek::tag::Kind;

#[derive(PartialEq, Eq, Hash, Debug)]
struct Unsaved;

#[derive(Kind, PartialEq, Eq, Hash, Debug)]
enum Order {
    Tiled { width: u32, by: Unsaved },
}

#[derive(Kind, PartialEq, Eq, Debug)]
enum Unhashed {
    Plain,
}

fn main() {}
