use sarek::tag::Kind;

#[derive(Kind, PartialEq, Eq, Hash, Debug)]
enum Order {
    Plain,
    Tuple(u32, u32),
    Empty {},
    Undefined,
    #[kind(name = "Plain")]
    Again,
}

#[derive(Kind, PartialEq, Eq, Hash, Debug)]
enum Valued {
    First = 4,
}

#[derive(Kind, PartialEq, Eq, Hash, Debug)]
struct Tile {
    width: u32,
}

#[derive(Kind, PartialEq, Eq, Hash, Debug)]
enum Generic<'a, T> {
    Of { value: &'a T },
}

fn main() {}
