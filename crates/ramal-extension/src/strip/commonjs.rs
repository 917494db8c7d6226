//! Modules in the manner of CommonJS: `require`, `module.exports`.

use oxc::ast::ast::{
    Argument, AssignmentExpression, AssignmentTarget, CallExpression, Expression, ObjectPropertyKind,
    Program, PropertyKey, Statement, StaticMemberExpression,
};

/// What a module exports by name, as far as one sees it at a glance; none if it is not of that kind.
pub(super) fn exports(program: &Program<'_>, source: &str, is_sure: bool) -> Option<Vec<String>> {
    let is_module = program.body.iter().any(Statement::is_module_declaration);
    let speaks =
        ["module.exports", "exports.", "(exports,", "require("].iter().any(|word| source.contains(word));
    if is_module || !(is_sure || speaks) {
        return None;
    }
    let mut names = Vec::new();
    for statement in &program.body {
        let Statement::ExpressionStatement(statement) = statement else { continue };
        match &statement.expression {
            Expression::AssignmentExpression(assignment) => assigned(assignment, &mut names),
            Expression::CallExpression(call) => names.extend(defined(call)),
            _ => {}
        }
    }
    names.retain(|name| is_name(name) && name != "default");
    names.sort_unstable();
    names.dedup();
    Some(names)
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_' || first == '$')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_' || char == '$')
}

/// `exports.a = …`, `module.exports.a = …`, `module.exports = { a, … }`, and chains of these.
fn assigned(assignment: &AssignmentExpression<'_>, names: &mut Vec<String>) {
    let mut next = Some(assignment);
    while let Some(assignment) = next {
        if let AssignmentTarget::StaticMemberExpression(member) = &assignment.left {
            if is_exports(&member.object) {
                names.push(member.property.name.to_string());
            }
            if is_module_exports(member)
                && let Expression::ObjectExpression(object) = &assignment.right
            {
                names.extend(object.properties.iter().filter_map(|property| match property {
                    ObjectPropertyKind::ObjectProperty(property) => match &property.key {
                        PropertyKey::StaticIdentifier(name) => Some(name.name.to_string()),
                        PropertyKey::StringLiteral(name) => Some(name.value.to_string()),
                        _ => None,
                    },
                    ObjectPropertyKind::SpreadProperty(_) => None,
                }));
            }
        }
        next = match &assignment.right {
            Expression::AssignmentExpression(inner) => Some(inner),
            _ => None,
        };
    }
}

/// `Object.defineProperty(exports, "a", …)`.
fn defined(call: &CallExpression<'_>) -> Option<String> {
    let Expression::StaticMemberExpression(callee) = &call.callee else { return None };
    let [target, Argument::StringLiteral(name), ..] = call.arguments.as_slice() else { return None };
    let is_of_exports = target.as_expression().is_some_and(is_exports);
    (callee.property.name == "defineProperty" && is_of_exports).then(|| name.value.to_string())
}

/// `exports`, or `module.exports`.
fn is_exports(expression: &Expression<'_>) -> bool {
    match expression {
        Expression::Identifier(name) => name.name == "exports",
        Expression::StaticMemberExpression(member) => is_module_exports(member),
        _ => false,
    }
}

fn is_module_exports(member: &StaticMemberExpression<'_>) -> bool {
    member.property.name == "exports"
        && matches!(&member.object, Expression::Identifier(name) if name.name == "module")
}
