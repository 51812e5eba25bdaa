import { type RegisteredRouter, type RouteById, type RouteIds, useNavigate, useSearch } from '@tanstack/react-router';
import { isChoosingByKey } from './keyboard.ts';

type Routes = RegisteredRouter['routeTree'];
type SearchOf<Id extends RouteIds<Routes>> = RouteById<Routes, Id>['types']['fullSearchSchema'];

/**
 * The settings of a page, which are in its address: a view can be shared, and Back undoes each change. Only those that the arrow keys go
 * through are no pages to come back to.
 */
export const usePageSearch = <const Id extends RouteIds<Routes>>(from: Id) => {
  const navigate = useNavigate();
  const search = useSearch({ from } as never) as SearchOf<Id>;
  const change = (part: Partial<SearchOf<Id>>, replace = isChoosingByKey()) =>
    void navigate({ to: '.', search: (now: object) => ({ ...now, ...part }), resetScroll: false, replace } as never);
  return { search, change };
};
