package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/internal/digits"
)

func digitsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "digits",
		Short: "Print the handwritten digits that train learns, as CSV",
		Long: `Print the 1,797 images of handwritten digits that train learns, as CSV: one image a line,
8 rows of 8 pixels from 0 to 16, then the digit.

The digits are from "Optical Recognition of Handwritten Digits" by E. Alpaydin
and C. Kaynak, UCI Machine Learning Repository, doi.org/10.24432/C50P49, CC BY 4.0.`,
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := io.WriteString(c.OutOrStdout(), digits.CSV)
			return err
		},
	}
}
