import * as z from 'zod/mini';
import { MAX_SEARCH_CHARACTERS, viewPages } from '../../domain/accounts/saved-view.ts';
import { was } from '../../http/as-read.ts';
import { component, created, inGroup, ok } from '../../http/operation.ts';
import { described, name } from '../../http/parameters.ts';

const search = z.string().check(
  z.maxLength(MAX_SEARCH_CHARACTERS),
  z.meta({
    description:
      "What the page's URL has after the question mark, percent-encoded: parameters of that page only. Empty: the page as it opens.",
    examples: ['range=month&by=tag'],
  }),
);

const viewSchema = component('View', {
  id: z.string(),
  name: z.string(),
  page: z.enum(viewPages),
  search,
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
});

const MAX_NAME = 60;
const operation = inGroup('Views');

export const listViews = operation('listViews', 'GET /views', {
  summary: 'List saved views',
  description: 'A role that may not read requests does not see views of the page `requests`.',
  permission: 'spend:read',
  success: ok('By name.', {
    items: z.array(viewSchema),
    limit: described(z.int().check(z.positive()), 'How many views an account may have.'),
  }),
});

export const createView = operation('createView', 'POST /views', {
  audits: ['view.created'],
  summary: 'Save a view',
  description: 'All members of the account see it. A page has each name once.',
  permission: 'rules:write',
  body: z.strictObject({ name: name(MAX_NAME), page: z.enum(viewPages), search }),
  success: created('The view.', viewSchema),
  errors: ['LIMIT_REACHED', 'CONFLICT'],
});

export const changeView = operation('changeView', 'PATCH /views/{id}', {
  audits: ['view.changed'],
  summary: 'Rename a view, or save other settings under its name',
  description: 'Send only the members to change.',
  permission: 'rules:write',
  body: z.strictObject({ name: z.optional(name(MAX_NAME)), search: z.optional(search), was }),
  success: ok('The view.', viewSchema),
  errors: ['CONFLICT'],
});

export const deleteView = operation('deleteView', 'DELETE /views/{id}', {
  audits: ['view.deleted'],
  summary: 'Delete a view',
  permission: 'rules:write',
  success: { status: 204, description: 'Deleted.' },
});
