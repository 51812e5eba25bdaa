import {
  type AnyRoute,
  type AnyValidator,
  type Constrain,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  type DefaultValidator,
  lazyRouteComponent,
  Outlet,
  parseSearchWith,
  type RouteComponent,
  redirect,
  stringifySearchWith,
} from '@tanstack/react-router';
import { planNames } from '../../lambda/domain/billing/plans.ts';
import type { Session } from './api/session.ts';
import { reachServer } from './app.ts';
import { compareSearch } from './compare/search.ts';
import { overviewSearch } from './overview/search.ts';
import { requestsSearch } from './requests/search.ts';
import { day, daysSearch, limitSearch, nextOf, oneOf, reconciliationSearch, searchOf, text } from './search.ts';
import { NotFound, RouteProblem } from './shell/problems.tsx';

/** Where pages were that messages of earlier versions link to. */
const movedFrom = (href: string): string =>
  href.replace('/budgets/new', '/limits/new?type=budget').replace(/^\/(rules|budgets)(?=[/?]|$)/, '/limits');

/** Loads a page with its first visit. Where its file is gone, as after a deployment, the router loads the document again. */
const lazyPage = <Name extends string>(load: () => Promise<Readonly<Record<Name, RouteComponent>>>, name: Name) =>
  lazyRouteComponent(
    () =>
      load().catch(async (error) => {
        await reachServer();
        throw error;
      }),
    name,
  ) as RouteComponent;

const root = createRootRouteWithContext<{ readonly session: Session }>()({
  component: Outlet,
  beforeLoad: ({ location: { href } }) => {
    if (movedFrom(href) !== href) throw redirect({ href: movedFrom(href), replace: true });
  },
  notFoundComponent: NotFound,
});

const visitors = createRoute({
  getParentRoute: () => root,
  id: 'visitors',
  beforeLoad: ({ context, search }) => {
    if (context.session.isSignedIn()) throw redirect({ href: nextOf(search) });
  },
  component: lazyPage(() => import('./account/layout.tsx'), 'AccountLayout'),
});

const members = createRoute({
  getParentRoute: () => root,
  id: 'members',
  beforeLoad: ({ context, location }) => {
    if (context.session.isSignedIn()) return;
    throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } });
  },
  component: lazyPage(() => import('./shell/shell.tsx'), 'Shell'),
});

/**
 * A function that makes the routes of a layout: from a path, the module and name of the page, which loads with the first visit, and
 * what reads the query of the URL.
 */
const pagesIn =
  <Layout extends AnyRoute>(layout: Layout) =>
  <const Path extends string, Name extends string, Search = undefined>(
    path: Path,
    load: () => Promise<Readonly<Record<Name, RouteComponent>>>,
    name: Name,
    validateSearch?: Constrain<Search, AnyValidator, DefaultValidator>,
  ) =>
    createRoute({
      getParentRoute: () => layout,
      path,
      component: lazyPage(load, name),
      validateSearch,
    });

const visitorPage = pagesIn(visitors);
const memberPage = pagesIn(members);

const requests = memberPage('/requests', () => import('./requests/requests.tsx'), 'Requests', requestsSearch);
/** A drawer over the list. */
const requestDrawer = pagesIn(requests)('$requestId', () => import('./requests/request-details.tsx'), 'RequestDrawer');

/** The path to open after signing in, why the user has to sign in, and the address. */
export const signInSearch = searchOf({
  next: text,
  reason: oneOf(['expired', 'signedOut', 'passwordChanged', 'emailChanged', 'joined']),
  email: text,
});

/** Parameters with which an identity provider leads back. @see https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2 */
export const signOnCallbackSearch = searchOf({ code: text, state: text, error: text, error_description: text });

/** A payment page leads back with its result, and the plan that was chosen there. */
const billingSearch = searchOf({ checkout: oneOf(['completed', 'cancelled']), plan: oneOf(planNames) });

const alertsSearch = searchOf({ status: oneOf(['triggered', 'acknowledged']) });

/** A limit for each of which more is asked, and the value. */
const accessSearch = searchOf({ ask: text, value: text });

/** A model and its provider open the form for its price. */
const pricesSearch = searchOf({ model: text, provider: text });

/** The days of the list and its order: by cost where the URL has none. */
const sessionsSearch = searchOf({ orderBy: oneOf(['time']), from: day, to: day });

/** Parameters with which a program leads here (RFC 6749, section 4.1.1). */
const authorizeSearch = searchOf({
  client_id: text,
  redirect_uri: text,
  code_challenge: text,
  state: text,
  resource: text,
});

const routeTree = root.addChildren([
  visitors.addChildren([
    visitorPage('/sign-in', () => import('./account/sign-in.tsx'), 'SignIn', signInSearch),
    // Identity providers lead back here.
    visitorPage(
      '/sign-in/callback',
      () => import('./account/sign-on-callback.tsx'),
      'SignOnCallback',
      signOnCallbackSearch,
    ),
    visitorPage('/sign-up', () => import('./account/sign-up.tsx'), 'SignUp'),
    visitorPage('/forgot-password', () => import('./account/sign-in.tsx'), 'ForgotPassword'),
    visitorPage('/reset-password', () => import('./account/sign-in.tsx'), 'ResetPassword', signInSearch),
    // Mails link here, with the token behind `#`.
    visitorPage('/accept-invitation', () => import('./account/sign-up.tsx'), 'AcceptInvitation'),
  ]),
  members.addChildren([
    memberPage('/', () => import('./overview/overview.tsx'), 'Overview', overviewSearch),
    // Refused requests link here.
    memberPage('/access', () => import('./access/access.tsx'), 'Access', accessSearch),
    memberPage('/compare', () => import('./compare/compare.tsx'), 'Compare', compareSearch),
    requests.addChildren([requestDrawer]),
    memberPage('/sessions', () => import('./client-sessions/sessions.tsx'), 'Sessions', sessionsSearch),
    memberPage('/sessions/$sessionId', () => import('./client-sessions/sessions.tsx'), 'OneSession', daysSearch),
    memberPage('/alerts', () => import('./alerts/alerts.tsx'), 'Alerts', alertsSearch),
    // Mails link here.
    memberPage('/alerts/$alertId', () => import('./alerts/alerts.tsx'), 'OneAlert'),
    memberPage('/limits', () => import('./limits/limits.tsx'), 'Limits'),
    memberPage('/limits/new', () => import('./limits/limit-editor.tsx'), 'NewLimit', limitSearch),
    // Mails link here.
    memberPage('/raises', () => import('./limits/raises.tsx'), 'Raises'),
    memberPage('/limits/$limitId', () => import('./limits/limit-editor.tsx'), 'EditLimit'),
    memberPage('/reports', () => import('./reports/reports.tsx'), 'Reports'),
    memberPage('/reports/new', () => import('./reports/report-editor.tsx'), 'NewReport'),
    // Reports link here.
    memberPage('/reports/$reportId', () => import('./reports/report-editor.tsx'), 'EditReport'),
    memberPage('/connect', () => import('./connect/connect.tsx'), 'Connect'),
    memberPage('/keys', () => import('./keys/keys.tsx'), 'Keys'),
    memberPage('/members', () => import('./members/members.tsx'), 'Members'),
    memberPage('/audit', () => import('./audit/audit.tsx'), 'Audit', daysSearch),
    memberPage('/billing', () => import('./billing/billing.tsx'), 'Billing', billingSearch),
    memberPage('/prices', () => import('./prices/prices.tsx'), 'Prices', pricesSearch),
    memberPage('/savings', () => import('./savings/savings.tsx'), 'Savings'),
    memberPage('/price-changes', () => import('./price-changes/price-changes.tsx'), 'PriceChanges'),
    memberPage(
      '/reconciliation',
      () => import('./reconciliation/reconciliation.tsx'),
      'Reconciliation',
      reconciliationSearch,
    ),
    memberPage('/exports', () => import('./exports/exports.tsx'), 'Exports'),
    // Mails link here.
    memberPage('/review', () => import('./account/review.tsx'), 'Review'),
    memberPage('/tokens', () => import('./tokens/tokens.tsx'), 'Tokens'),
    // Programs lead here.
    memberPage('/authorize', () => import('./tokens/authorize.tsx'), 'Authorize', authorizeSearch),
    memberPage('/profile', () => import('./profile/profile.tsx'), 'Profile'),
    memberPage('/settings', () => import('./account-settings/account-settings.tsx'), 'AccountSettings'),
    // The part of the menu that a phone has no room for.
    memberPage('/more', () => import('./shell/shell.tsx'), 'More'),
  ]),
]);

/** A text that JSON would write in another way stays a text: a program gets its `state` back as it was. */
const parsed = (text: string): unknown => {
  const value: unknown = JSON.parse(text);
  if (JSON.stringify(value) !== text) throw new Error('Not as JSON writes it.');
  return value;
};

export const createAppRouter = (session: Session) =>
  createRouter({
    routeTree,
    context: { session },
    parseSearch: parseSearchWith(parsed),
    stringifySearch: stringifySearchWith(JSON.stringify, parsed),
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: RouteProblem,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
