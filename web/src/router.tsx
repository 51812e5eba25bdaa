import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router';
import { nextOf, signInSearch, signOnCallbackSearch } from './account/search.ts';
import { alertsSearch } from './alerts/search.ts';
import { billingSearch } from './billing/search.ts';
import { sessionsSearch } from './client-sessions/search.ts';
import { compareSearch } from './compare/search.ts';
import { overviewSearch } from './overview/search.ts';
import { pricesSearch } from './prices/search.ts';
import { reconciliationSearch } from './reconciliation/search.ts';
import { requestsSearch } from './requests/search.ts';
import { ruleSearch } from './rules/search.ts';
import type { Session } from './session/session.ts';
import { NotFound } from './shell/not-found.tsx';
import { RouteProblem } from './shell/route-problem.tsx';

const root = createRootRouteWithContext<{ readonly session: Session }>()({
  component: Outlet,
  notFoundComponent: NotFound,
});

const visitors = createRoute({
  getParentRoute: () => root,
  id: 'visitors',
  beforeLoad: ({ context, search }) => {
    if (context.session.isSignedIn()) throw redirect({ href: nextOf(search) });
  },
  component: lazyRouteComponent(() => import('./account/layout.tsx'), 'AccountLayout'),
});

const signIn = createRoute({
  getParentRoute: () => visitors,
  path: '/sign-in',
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import('./account/sign-in.tsx'), 'SignIn'),
});
/** Identity providers lead back here. */
const signOnCallback = createRoute({
  getParentRoute: () => visitors,
  path: '/sign-in/callback',
  validateSearch: signOnCallbackSearch,
  component: lazyRouteComponent(() => import('./account/sign-on-callback.tsx'), 'SignOnCallback'),
});
const signUp = createRoute({
  getParentRoute: () => visitors,
  path: '/sign-up',
  component: lazyRouteComponent(() => import('./account/sign-up.tsx'), 'SignUp'),
});
const forgotPassword = createRoute({
  getParentRoute: () => visitors,
  path: '/forgot-password',
  component: lazyRouteComponent(() => import('./account/forgot-password.tsx'), 'ForgotPassword'),
});
const resetPassword = createRoute({
  getParentRoute: () => visitors,
  path: '/reset-password',
  validateSearch: signInSearch,
  component: lazyRouteComponent(() => import('./account/reset-password.tsx'), 'ResetPassword'),
});

/** Mails link here, with the token behind `#`. */
const acceptInvitation = createRoute({
  getParentRoute: () => visitors,
  path: '/accept-invitation',
  component: lazyRouteComponent(() => import('./account/accept-invitation.tsx'), 'AcceptInvitation'),
});

const members = createRoute({
  getParentRoute: () => root,
  id: 'members',
  beforeLoad: ({ context, location }) => {
    if (context.session.isSignedIn()) return;
    throw redirect({ to: '/sign-in', search: location.href === '/' ? {} : { next: location.href } });
  },
  component: lazyRouteComponent(() => import('./shell/shell.tsx'), 'Shell'),
});

const overview = createRoute({
  getParentRoute: () => members,
  path: '/',
  validateSearch: overviewSearch,
  component: lazyRouteComponent(() => import('./overview/overview.tsx'), 'Overview'),
});
const compare = createRoute({
  getParentRoute: () => members,
  path: '/compare',
  validateSearch: compareSearch,
  component: lazyRouteComponent(() => import('./compare/compare.tsx'), 'Compare'),
});
const requests = createRoute({
  getParentRoute: () => members,
  path: '/requests',
  validateSearch: requestsSearch,
  component: lazyRouteComponent(() => import('./requests/requests.tsx'), 'Requests'),
});
const request = createRoute({
  getParentRoute: () => requests,
  path: '$requestId',
  component: lazyRouteComponent(() => import('./requests/request-drawer.tsx'), 'RequestDrawer'),
});
const sessions = createRoute({
  getParentRoute: () => members,
  path: '/sessions',
  validateSearch: sessionsSearch,
  component: lazyRouteComponent(() => import('./client-sessions/sessions.tsx'), 'Sessions'),
});
const session = createRoute({
  getParentRoute: () => members,
  path: '/sessions/$sessionId',
  component: lazyRouteComponent(() => import('./client-sessions/session.tsx'), 'OneSession'),
});
const alerts = createRoute({
  getParentRoute: () => members,
  path: '/alerts',
  validateSearch: alertsSearch,
  component: lazyRouteComponent(() => import('./alerts/alerts.tsx'), 'Alerts'),
});
/** Mails link here. */
const alert = createRoute({
  getParentRoute: () => members,
  path: '/alerts/$alertId',
  component: lazyRouteComponent(() => import('./alerts/alert.tsx'), 'OneAlert'),
});
const rules = createRoute({
  getParentRoute: () => members,
  path: '/rules',
  component: lazyRouteComponent(() => import('./rules/rules.tsx'), 'Rules'),
});
const newRule = createRoute({
  getParentRoute: () => members,
  path: '/rules/new',
  validateSearch: ruleSearch,
  component: lazyRouteComponent(() => import('./rules/rule-editor.tsx'), 'NewRule'),
});
const rule = createRoute({
  getParentRoute: () => members,
  path: '/rules/$ruleId',
  component: lazyRouteComponent(() => import('./rules/rule-editor.tsx'), 'EditRule'),
});
const budgets = createRoute({
  getParentRoute: () => members,
  path: '/budgets',
  component: lazyRouteComponent(() => import('./budgets/budgets.tsx'), 'Budgets'),
});
const newBudget = createRoute({
  getParentRoute: () => members,
  path: '/budgets/new',
  component: lazyRouteComponent(() => import('./budgets/budget-editor.tsx'), 'NewBudget'),
});
const budget = createRoute({
  getParentRoute: () => members,
  path: '/budgets/$budgetId',
  component: lazyRouteComponent(() => import('./budgets/budget-editor.tsx'), 'EditBudget'),
});
const reports = createRoute({
  getParentRoute: () => members,
  path: '/reports',
  component: lazyRouteComponent(() => import('./reports/reports.tsx'), 'Reports'),
});
const newReport = createRoute({
  getParentRoute: () => members,
  path: '/reports/new',
  component: lazyRouteComponent(() => import('./reports/report-editor.tsx'), 'NewReport'),
});
/** Reports link here. */
const report = createRoute({
  getParentRoute: () => members,
  path: '/reports/$reportId',
  component: lazyRouteComponent(() => import('./reports/report-editor.tsx'), 'EditReport'),
});
const keys = createRoute({
  getParentRoute: () => members,
  path: '/keys',
  component: lazyRouteComponent(() => import('./keys/keys.tsx'), 'Keys'),
});
const people = createRoute({
  getParentRoute: () => members,
  path: '/members',
  component: lazyRouteComponent(() => import('./members/members.tsx'), 'Members'),
});
const audit = createRoute({
  getParentRoute: () => members,
  path: '/audit',
  component: lazyRouteComponent(() => import('./audit/audit.tsx'), 'Audit'),
});
const billing = createRoute({
  getParentRoute: () => members,
  path: '/billing',
  validateSearch: billingSearch,
  component: lazyRouteComponent(() => import('./billing/billing.tsx'), 'Billing'),
});

const prices = createRoute({
  getParentRoute: () => members,
  path: '/prices',
  validateSearch: pricesSearch,
  component: lazyRouteComponent(() => import('./prices/prices.tsx'), 'Prices'),
});
const priceChanges = createRoute({
  getParentRoute: () => members,
  path: '/price-changes',
  component: lazyRouteComponent(() => import('./price-changes/price-changes.tsx'), 'PriceChanges'),
});
const reconciliation = createRoute({
  getParentRoute: () => members,
  path: '/reconciliation',
  validateSearch: reconciliationSearch,
  component: lazyRouteComponent(() => import('./reconciliation/reconciliation.tsx'), 'Reconciliation'),
});
const exported = createRoute({
  getParentRoute: () => members,
  path: '/exports',
  component: lazyRouteComponent(() => import('./exports/exports.tsx'), 'Exports'),
});

/** Mails link here. */
const review = createRoute({
  getParentRoute: () => members,
  path: '/review',
  component: lazyRouteComponent(() => import('./account/review.tsx'), 'Review'),
});
const tokens = createRoute({
  getParentRoute: () => members,
  path: '/tokens',
  component: lazyRouteComponent(() => import('./tokens/tokens.tsx'), 'Tokens'),
});
const profile = createRoute({
  getParentRoute: () => members,
  path: '/profile',
  component: lazyRouteComponent(() => import('./profile/profile.tsx'), 'Profile'),
});
const accountSettings = createRoute({
  getParentRoute: () => members,
  path: '/settings',
  component: lazyRouteComponent(() => import('./account-settings/account-settings.tsx'), 'AccountSettings'),
});

/** The part of the menu that a phone has no room for. */
const more = createRoute({
  getParentRoute: () => members,
  path: '/more',
  component: lazyRouteComponent(() => import('./shell/more.tsx'), 'More'),
});

const routeTree = root.addChildren([
  visitors.addChildren([signIn, signOnCallback, signUp, forgotPassword, resetPassword, acceptInvitation]),
  members.addChildren([
    overview,
    compare,
    requests.addChildren([request]),
    sessions,
    session,
    alerts,
    alert,
    rules,
    newRule,
    rule,
    budgets,
    newBudget,
    budget,
    reports,
    newReport,
    report,
    keys,
    people,
    audit,
    billing,
    prices,
    priceChanges,
    reconciliation,
    exported,
    review,
    tokens,
    profile,
    accountSettings,
    more,
  ]),
]);

export const createAppRouter = (session: Session) =>
  createRouter({
    routeTree,
    context: { session },
    defaultPreload: 'intent',
    scrollRestoration: true,
    defaultErrorComponent: RouteProblem,
  });

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>;
  }
}
