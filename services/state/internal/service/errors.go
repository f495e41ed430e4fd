package service

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/fathom-research/fathom/platform/bus"
	"github.com/fathom-research/fathom/services/state/internal/engine"
	"github.com/fathom-research/fathom/services/state/internal/store"
)

const (
	domain = "fathom"
	// The reasons tell the gateway which HTTP status an
	// error is.
	reasonConflict    = "CONFLICT"
	reasonKeyMismatch = "IDEMPOTENCY_MISMATCH"
	reasonNotInTime   = "QUESTIONS_NOT_IN_TIME"
	reasonNoQuestions = "NO_QUESTIONS"
	reasonOverBudget  = "OVER_BUDGET"
)

func invalid(format string, args ...any) error {
	return status.Errorf(codes.InvalidArgument, format, args...)
}

// detailed makes an error with a reason that programs read.
func detailed(code codes.Code, reason, message string, about map[string]string) error {
	st, err := status.New(code, message).WithDetails(&errdetails.ErrorInfo{Reason: reason, Domain: domain, Metadata: about})
	if err != nil {
		return status.Error(code, message)
	}
	return st.Err()
}

// answer turns an error into what a client may read. What went wrong inside stays in
// the log.
func (s *Service) answer(ctx context.Context, err error, researchID string) error {
	var wrong *engine.InvalidError
	var conflict *engine.ConflictError
	var over *engine.BudgetError
	_, isStatus := status.FromError(err)
	switch {
	case err == nil, isStatus:
		return err
	case errors.As(err, &wrong):
		return invalid("%s", wrong.Message)
	case errors.As(err, &conflict):
		return detailed(codes.FailedPrecondition, reasonConflict, conflict.Message, map[string]string{"research_id": researchID})
	case errors.As(err, &over):
		return detailed(codes.ResourceExhausted, reasonOverBudget, over.Message, map[string]string{"budget": over.Budget})
	case errors.Is(err, engine.ErrKeyMismatch):
		return detailed(codes.InvalidArgument, reasonKeyMismatch, "The Idempotency-Key was used with another request", nil)
	case errors.Is(err, store.ErrNotFound), errors.Is(err, bus.ErrNoDeadTask):
		return status.Error(codes.NotFound, "Not found")
	case ctx.Err() != nil:
		return status.FromContextError(ctx.Err()).Err()
	default:
		s.logger.ErrorContext(ctx, "request failed", "research_id", researchID, "error", err)
		return status.Error(codes.Unavailable, "The request could not be processed now")
	}
}

// known checks the form of an id, so that the database is not asked for what can't
// be there.
func known(researchID string) error {
	if !store.ValidID(researchID) {
		return unknown(researchID)
	}
	return nil
}

func unknown(researchID string) error {
	return status.Error(codes.NotFound, fmt.Sprintf("Unknown research_id %.64q", researchID))
}
