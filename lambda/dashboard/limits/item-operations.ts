import * as z from 'zod/mini';
import { created, idParams, inGroup, ok } from '../../http/operation.ts';
import { described, unreadable } from '../../http/parameters.ts';
import { changedMembers, previewSchema } from './rule-members.ts';

/** The path of one value of a budget. */
export const valueParams = z.strictObject({
  ...idParams.shape,
  value: described(
    z.string().check(z.minLength(1), z.maxLength(256)),
    'As GET /budgets/{id}/values has it. `(none)`: the requests without a value.',
  ),
});

interface View<Shown extends z.ZodMiniType, Secret extends z.ZodMiniType, Body extends z.ZodMiniType, Preview, Change> {
  /** In operation ids: `AlertRule`. */
  readonly id: string;
  /** With its article: `an alert rule`. */
  readonly noun: string;
  readonly group: string;
  readonly path: `/${string}`;
  /** In names of entries of the audit log. */
  readonly audited: 'alert_rule' | 'budget';
  readonly shown: Shown;
  /** As a change shows it: with a new secret. */
  readonly withSecret: Secret;
  readonly body: Body;
  readonly preview: Preview;
  readonly changes: Change;
  /** Descriptions. `gives` ends the summary of the list and of one. */
  readonly gives: string;
  readonly creating: string;
  readonly changing: string;
  readonly deleting: string;
}

/** The operations of a view of an account's rules: alert rules, or budgets. manage-items.ts implements them. */
export const itemOperations = <
  Shown extends z.ZodMiniType,
  Secret extends z.ZodMiniType,
  Body extends z.ZodMiniType,
  Preview extends z.ZodMiniType,
  Change extends z.core.$ZodShape,
>(
  view: View<Shown, Secret, Body, Preview, Change>,
) => {
  const { id, noun, path, audited, shown } = view;
  const [, name = ''] = /^an? (.*)/.exec(noun) ?? [];
  const the = `The ${name}.`;
  const operation = inGroup(view.group);
  return {
    list: operation(`list${id}s`, `GET ${path}`, {
      summary: `List ${name}s${view.gives}`,
      permission: 'rules:read',
      success: ok('Oldest first.', { items: z.array(shown), unreadable }),
    }),
    get: operation(`get${id}`, `GET ${path}/{id}`, {
      summary: `Read ${noun}${view.gives}`,
      permission: 'rules:read',
      success: ok(the, shown),
    }),
    create: operation(`create${id}`, `POST ${path}`, {
      audits: [`${audited}.created`],
      summary: `Create ${noun}`,
      description: view.creating,
      permission: 'rules:write',
      body: view.body,
      success: created(the, view.withSecret),
      errors: ['LIMIT_REACHED'],
    }),
    preview: operation(`preview${id}`, `POST ${path}/preview`, {
      audits: 'Reads only.',
      summary: `Preview what ${noun} would have done`,
      description: "Judges the account's last 30 days. Nothing is stored, sent or stopped.",
      permission: 'rules:read',
      body: view.preview,
      success: ok('When its alerts would have been sent, oldest first.', previewSchema),
    }),
    update: operation(`update${id}`, `PATCH ${path}/{id}`, {
      audits: [`${audited}.changed`],
      summary: `Change ${noun}`,
      description: view.changing,
      permission: 'rules:write',
      body: z.strictObject({ ...changedMembers, ...view.changes }),
      success: ok(the, view.withSecret),
      errors: ['CONFLICT'],
    }),
    remove: operation(`delete${id}`, `DELETE ${path}/{id}`, {
      audits: [`${audited}.deleted`],
      summary: `Delete ${noun}`,
      description: view.deleting,
      permission: 'rules:write',
      success: { status: 204, description: 'Deleted.' },
    }),
  };
};
