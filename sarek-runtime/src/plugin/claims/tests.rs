//! Tests of claims.

use sarek_ir::Kernel;

use super::*;
use crate::plugin::tag;

/// The backend in charge of a subject.
fn owner(all: &Claims, subject: &Subject, bytes: u64) -> crate::Result<Option<&'static str>> {
    let owner = all.owner(&Request::memory(subject, bytes))?;
    Ok(owner.map(|owner| owner.backend))
}

fn claims(owner: &'static str, claim: impl FnOnce(&mut Claims) -> &mut Claims) -> Claims {
    let mut claims = Claims::default();
    claim(&mut claims);
    claims.of(owner)
}

#[test]
fn a_key_has_one_owner() {
    let tag: Tag<ScheduleKind> = tag::register("claims/one").unwrap();
    let mut all = Claims::default();
    let one = claims("one", |c| c.schedule(tag.clone()));
    all.join(&one).unwrap();
    let error = all
        .join(&claims("two", |c| c.schedule(tag.clone())))
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("claims/one") && text.contains("one, two"),
        "{text}"
    );
    let subject = Subject::Schedule(tag);
    assert_eq!(owner(&all, &subject, 0).unwrap(), Some("one"));
    all.leave("one");
    let error = owner(&all, &subject, 0).unwrap_err();
    assert!(matches!(error, Error::Unclaimed { .. }), "{error}");
}

#[test]
fn what_nobody_claims_is_everybodys_or_an_error() {
    let mut all = Claims::default();
    let pinned = claims("cuda", |c| c.storage(StorageKind::pinned()));
    all.join(&pinned).unwrap();
    for everybodys in [
        Subject::Kernels,
        Subject::Schedule(ScheduleKind::blocks()),
        Subject::Schedule(ScheduleKind::grid_stride()),
        Subject::Storage(StorageKind::device()),
    ] {
        assert_eq!(owner(&all, &everybodys, 0).unwrap(), None);
    }
    let unknown: Tag<StorageKind> = tag::lookup("claims/nowhere");
    let error = owner(&all, &Subject::Storage(unknown), 0).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("Undefined(claims/nowhere)"), "{text}");
    assert!(text.contains("the storage `pinned` by cuda"), "{text}");
}

#[test]
fn predicates_go_before_keys_and_must_agree() {
    let mut all = Claims::default();
    let large = |limit: u64| move |request: &Request<'_>| request.bytes > limit;
    let tag: Tag<StorageKind> = tag::register("claims/predicates").unwrap();
    let subject = Subject::Storage(tag.clone());
    for claims in [
        claims("keyed", |c| c.storage(tag)),
        claims("large", |c| c.by_predicate(subject.clone(), large(100))),
        claims("huge", |c| c.by_predicate(subject.clone(), large(1000))),
    ] {
        all.join(&claims).unwrap();
    }
    let owner = |bytes| owner(&all, &subject, bytes);
    assert_eq!(owner(5).unwrap(), Some("keyed"));
    assert_eq!(owner(500).unwrap(), Some("large"));
    let error = owner(5000).unwrap_err().to_string();
    assert!(error.contains("large, huge"), "{error}");
}

#[test]
fn kernels_are_claimed_by_what_they_are() {
    let mut all = Claims::default();
    let named = |name: &'static str| {
        move |request: &Request<'_>| request.kernels.iter().all(|k| k.name.starts_with(name))
    };
    for (owner, subject) in [("one", Subject::Kernels), ("all", Subject::Programs)] {
        let mine = claims(owner, |c| c.by_predicate(subject, named("matmul")));
        all.join(&mine).unwrap();
    }
    let (matmul, other) = (Kernel::new("matmul_f32"), Kernel::new("saxpy"));
    let owner = |subject: Subject, kernels: &[&Kernel]| {
        let request = Request {
            kernels,
            ..Request::memory(&subject, 0)
        };
        all.owner(&request).unwrap().map(|owner| owner.backend)
    };
    assert_eq!(owner(Subject::Kernels, &[&matmul]), Some("one"));
    assert_eq!(owner(Subject::Kernels, &[&other]), None);
    assert_eq!(owner(Subject::Programs, &[&matmul, &matmul]), Some("all"));
    assert_eq!(owner(Subject::Programs, &[&matmul, &other]), None);
}

#[test]
fn templates_are_claimed_with_their_instances() {
    let template: tag::Template<StorageKind, u32> = tag::template("claims/banked").unwrap();
    let mut all = Claims::default();
    let mine = claims("any", |c| c.storage(template.tag().clone()));
    all.join(&mine).unwrap();
    let special = claims("special", |c| c.storage(template.of(7)));
    all.join(&special).unwrap();
    let owner = |bank| owner(&all, &Subject::Storage(template.of(bank)), 0).unwrap();
    assert_eq!((owner(1), owner(7)), (Some("any"), Some("special")));
}

#[test]
fn routes_are_native_unless_somebody_says_otherwise() {
    let (pinned, shared) = (StorageKind::pinned(), StorageKind::shared());
    let mut all = Claims::default();
    let routes = claims("one", |c| {
        c.copies(
            shared.clone(),
            shared.clone(),
            CopyAction::Illegal("it is gone"),
        )
        .copies(pinned.clone(), shared.clone(), CopyAction::StageViaHost)
    });
    all.join(&routes).unwrap();
    let route =
        |from: &Tag<_>, to: &Tag<_>| all.route(&Subject::copies(from.clone(), to.clone()), 8);
    assert_eq!(route(&pinned, &pinned).unwrap(), CopyAction::Native);
    assert_eq!(route(&pinned, &shared).unwrap(), CopyAction::StageViaHost);
    let error = route(&shared, &shared).unwrap_err().to_string();
    assert!(error.contains("it is gone"), "{error}");
    let twice = claims("two", |c| {
        c.copies(shared.clone(), shared.clone(), CopyAction::Native)
    });
    assert!(matches!(
        all.clone().join(&twice),
        Err(Error::Ambiguous { .. })
    ));
}
